"""Every question asked of a BERT: arrays and tables in, arrays and tables out."""
