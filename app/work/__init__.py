"""The only functions the queue of jobs may run: thin adapters from a form to `model` and `probes`."""
