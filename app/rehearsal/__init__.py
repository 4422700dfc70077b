"""A class of simulated readers over real websockets, to know before the lesson whether this machine will do."""
