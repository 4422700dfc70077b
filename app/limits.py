"""Every bound of the app in one place."""

TEXT_CHARACTERS = 4000  # a sentence box; the trace says where the model's own limit of wordpieces cuts

# memory over all readers, in megabytes; what was used least recently goes first
MODELS_MEGABYTES = 1000  # checkpoints, their copies with random weights, fine-tuned ones
MODELS_LEAST = 5  # of them whatever their size: "Both directions" asks three beside the one chosen, and someone has another
TRACES_MEGABYTES = 300  # 512 wordpieces take 98 MB in the shipped model, 233 MB in BERT-base
STATES_MEGABYTES = 400  # every token of a text at every layer, layers of indexed corpora; one of them whatever its size
DATASETS_MEGABYTES = 300  # labelled sentences; one file of them whatever its size
ANSWERS_MEGABYTES = 100  # everything else that was computed: evidence, controls, lessons, snapshots, ...
HANDOUTS_MEGABYTES = 150  # models as one HTML file, compressed; one of them whatever its size
ROUNDING_MASKS = 500  # that measure what rounding changes while a reader waits for a handout; the command takes 2,000

TOKENS_DRAWN = 40  # lines of one head on the start page; the attention page shows them all
POSITIONS_COMPARED = 128  # rows of the position similarity matrices
DOCUMENT_CHARACTERS = 60_000  # the box for a whole document
SENTENCES_AT_ONCE = 10  # of a document whose pairs are all read while the page waits; more become a job
BENCHMARK_MEGABYTES = 20  # of a text to draw pairs from

# masking
WORDS_LISTED = 20  # guesses for a blank
TARGETS_SHOWN = 9  # blanks with a chart of their own
MASKS_FILLED = 8  # masks that are filled together
SENTENCE_SCORED = 128  # wordpieces, each of which is masked in turn
TARGETS_OFFERED = 60  # words of a text to choose one from
DRAWS = 2000  # corruptions of a text that are counted
POSITIONS_AVERAGED = 200  # each read three times
SENTENCES_READ = 60  # of a text that is averaged over
TEXT_MEGABYTES = 20  # of one file of text
TRIAL_STEPS = 5000  # of one model trained on the strategies page

PASTED_CHARACTERS = 40_000  # a box of many sentences
PASTED_SENTENCES = 200  # read of such a box; a note says how many are left out
CORPUS_TOKENS = (20_000, 50_000, 100_000, 200_000)  # sizes of an indexed corpus; 200,000 × 384 floats are 307 MB

# jobs: long work in its own process
JOBS_WAITING = 20  # in the queue at once
JOBS_KEPT = 100  # finished ones on disk; the oldest beyond that are removed with their results
JOB_ARGUMENT_BYTES = 100_000  # of one job's arguments as JSON
JOB_FILE_BYTES = 64 * 2**20  # of the files handed to one job
JOB_FREE_BYTES = 2**30  # of the disk, below which no more work is taken
JOB_PROGRESS_LINES = 2_000  # about as many are written in the life of a long job
JOB_PROGRESS_SECONDS = 0.25  # at least between two lines of progress
JOB_STOP_SECONDS = 20  # after a request to stop a job has this long before its process is ended
JOB_KILL_SECONDS = 5  # and then this long before it is killed
JOB_NICENESS = 5  # of every job, below the pages
JOB_START_SECONDS = 60  # a process that has not begun by then, and whose starter is gone, counts as dead
JOB_WATCH_SECONDS = 1.0  # between two looks of the server at its queue

# training
TRAIN_MINUTES = 120  # of one training ordered in the browser; the command line has no limit
TRAIN_WORDS_LEAST = 200  # less cannot be cut into pairs worth learning from
TRAIN_TEXT_CHARACTERS = 2_000_000  # of pasted text; more comes as a file

# probes
UPLOAD_MEGABYTES = 60  # of one file of sentences, or of one saved result
PROBE_EXAMPLES = 200_000  # to learn from, in one experiment ordered in the browser
RESULTS_LISTED = 30
RESULT_NAME = 80  # characters of the name that a reader gives to a result

# fine-tuning
FINETUNING_EPOCHS = 50
FINETUNING_EXAMPLES = 20_000  # to learn from, in one fine-tuning ordered in the browser

# attention
BOARD_VALUES = 4_000_000  # weights sent to the board at once; beyond it one layer at a time
BERTVIZ_BYTES = 12_000_000  # a larger page of BertViz would freeze the browser
CORPUS_SENTENCES = 5_000  # lines read to say what heads do
TREEBANK_SENTENCES = 2_000  # trees read for the table of relations
PRUNING_SENTENCES = 24  # an exam for the pruning curve
