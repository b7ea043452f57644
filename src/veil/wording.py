"""What is said where something is refused. Nothing but texts: no row comes here, and no check rests on it."""

import errno

MATRIX_SIZE = "column {!r} must be a matrix with {} columns, one for each declared word"
TWICE = "two columns have the same name: rename one, or leave it out"
ARRAY = "a NumPy array needs two dimensions and the schema's {} columns, in its order"
ONE_DIMENSION = "column {!r} must be a list, a series or an array of one dimension"
NODES = "path scores need sorted numbers of nodes, the root's, which is 0, among them"
PATH_SCORES = "path scores need one row for each node and one column for each class"
CELL_SCORES = "cell scores need one row for each cell and one column for each class"
FOUR_BILLION = "epsilon is too small: noise of more than four billion rows would be the only answer"
NO_LEDGER = "this is not a ledger: check the path, or restore the file from a backup"
MISSING_ENTRY = "entry {} is missing: the ledger was edited; restore it from a backup"
LOST_FIRST = "the ledger has lost its first entry: restore it from a backup"
NEWER = "this ledger was made by a newer version of Veil: upgrade with `pip install -U veil`"
PAST_LIMIT = "the entries pass the limit: the ledger was edited; restore it from a backup"
NOT_A_LEDGER = "{} is not a ledger: check the path, or restore the file from a backup"
UNITS = (
    "this answer would protect {}, but earlier ones in the ledger protect {}, and the two do not add up: declare "
    "`person` in the schema as before, or keep another ledger; nothing was charged"
)
OLD = (
    "{} is not the newest copy: entry {}, which was charged on this machine, is missing or another one; use the newest "
    "copy. If that is lost for good, what was spent since is unknown: to go on with this one all the same, delete {}"
)
OVER_LIMIT = (
    "this would bring the total to epsilon {}, over the limit of {}: ask for less ({} is left) or stop here; nothing "
    "was charged"
)
CHANGED_MEANWHILE = "{} was changed while it was open: restore its newest copy, then open it again"
LONG_EPSILON = "this epsilon has too many digits for a charge: use one with fewer, or a larger one"
WEIGHTS = "give one weight for each class, or none"
BAG = "words must be a Bag, as bag(schema) makes it"
NO_WORDS = "column {!r} has no words: declare it as text, with words or buckets"
SUMMED = "a sum needs one to {} cell scores, all of the same classes"
BAG_SIZE = "a bag must have the size of its words, and these must be in the vocabulary: make it anew"
MANY_WORDS = "there are too many words and classes to count: use fewer words or buckets"
PARTITION = "a partition must be a Grid (veil.grid(schema, 'age')), Grouped, Tree, Drawn, Binned or Predicted"
GROUPED = "groups of cells need a grid, and an array with the whole number of each cell's group"
CELL_NUMBERS = "groups of cells need one number for each cell, from 0 to less than the number of groups"
AXES = "a grid must be made of axes, as axis(column) makes them"
FREE_TEXT = "column {!r} is free text: no partition can use it"
GROUPS = "the axis of column {!r} must give a group to each of its codes"
GROUP_NUMBERS = "the axis of column {!r} must number its groups from 0 and name each"
DRAWN = "a drawn tree needs axes, for each of them whether it is halved, and whole numbers"
DRAWN_WIDE = "the leaves of a drawn tree cannot be numbered: use a smaller depth"
SUM = "a sum needs a tuple of cell scores or linear scores"
WORDLESS = "column {!r} is free text without words: no weights can be on it"
WEIGHT_TABLE = "the weights of column {!r} must be a table of its codes by the classes"
NAMELESS = "an array has no column names, so nothing tells whose rows are whose: give a data frame"
SCHEMA_PARTS = "a schema must be made of columns, texts and numbers, as Schema and its columns make it"
RECODED = "only a numeric or categorical column of the schema, not the label, can be recoded"
ENTROPY_MOST = "most must be a whole number between 1 and 2^24"
EXPECTED_EPSILON = "the epsilon of ExpectedCorrect must lie between 0.001 and a million"
NO_LOCKS = "a ledger file needs the locks of Linux, macOS or another POSIX system: use Ledger(...)"
OTHERS_CHARGE = "{} is in the middle of a charge of another process: ask again"
SECOND_NAME = "{} has a second name, where it may be replaced unseen: remove that hard link"
EARLIER = "ledger {} is of an earlier version: run `veil ledger upgrade {}` once"
LOCKED = "{} is locked by another program: close it, or try again"
HANDICAPS = "give a handicap for each candidate: whole numbers from -{0} to {0}"
RANGES = (
    "ranges must be a table of whole numbers: for each range and axis, its first place and its end, which lies within "
    "the box of cells and not before the first place"
)
TARGETS = "give a target for each range: whole numbers, from -2^40 to 2^40"
COMPARED = "give one partition at least to compare with what is expected, and at most {} cells in all of them"
EXPECTED = "give what is expected in each cell of every partition: whole numbers, from -2^36 to 2^36"
BOX = "the box of cells must have one to {} sides, and no more cells than the partition"
PRICES = "give a price for each length of a bucket, 1, 2, 4, ... cells: from 0 to 2^40 rows"
MANY_CELLS = "the budget is too small for so many cells: use a larger one, or fewer cells"
SMALL_BUDGET = "the budget is too small for so many candidates: use a larger one, or fewer"
ONE_AXIS_EACH = "a cell can be divided by grids of one axis each"
CELLS_TO_CHOOSE = "{} has too many cells to choose in each: use fewer cells or candidates"
MINIMISED = "minimise takes grids of one axis each, or a bag of words"
MOST_WEIGHTS = "weights of at most {} words can be learned: select words first"
ALL_CLASSES = "this loss is of 2 to {} classes at once, of no single one"
OFFSETS = "the offsets must be {} numbers between -100 and 100"
PENALTY = "the penalty must be between 1 and 10^12: one for all columns, or one for each"
SHARES = "give every column once, and one share for each group of columns"
MANY_WEIGHTS = "epsilon is too small for so many weights: use more of it, or coarser or fewer columns"
SIXTEEN_MILLION = "epsilon is too small: noise of more than sixteen million rows would be the only answer"
NO_HITS = "this sieve has given all its hits: open another one with a new budget"
NAMES_DIFFER = "the ledger is for {!r}, the schema for {!r}: use its own, or correct `name` in it"
SIEVE_OWNER = "a sieve belongs to the process that opened it: two copies would each use up the hits"
SPARSE_OF = "a sparse count needs a Grid or a Drawn, by class, or a Bag"
CUT_SHORT = "{} was cut short or changed while it was open: restore its newest copy, then open it again"
BUSY = "{} is in the middle of a charge: ask again when it is done"
LEDGER_NAMELESS = (
    "a ledger needs the name of its data set, the one in the schema: Ledger(1, 'survey') makes one in memory, and "
    "Ledger.open(...) opens one in a file, or at an address such as postgresql://host/database?ledger=survey"
)
OTHERS_MEMORY = (
    "this ledger lives in the memory of another process, which would not see what is spent here: keep it in a file "
    "with Ledger.create(path, ...)"
)
MOVED = "{} was moved or replaced while it was open: open it again"
FULL = "cannot grow, the disk is full: free some space and ask again; nothing was answered"
DENIED = "cannot be used: ask its owner for read and write permission to the file"
DISK_ERROR = "cannot be written, the disk reports an error: check it and ask again; nothing was answered"
DISK = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), FULL),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), DENIED),
    errno.ENOENT: "is gone: put it back, or open it where it is now",
}
AFTER_CLOSING = "an entry follows the one that closed the ledger: it was edited; restore it from a backup"
CLOSED = "{} is closed, it went to {}: use that one; nothing was charged"
NO_ADDRESS = (
    "this is not the address of a ledger: write it as text such as postgresql://user@host/database?ledger=clinic, with "
    "%40 for @, %2F for /, %3A for : and %23 for # inside of its parts"
)
NO_DRIVER = "a ledger in PostgreSQL needs one more package: run `pip install 'veil[postgres]'`"
NO_SUCH = "there is no {}: make it with `veil ledger create`, or name another one by ?ledger= in the address"
EXISTS = "{} exists already: choose another name by ?ledger= in the address, or go on with this ledger"
UNREACHABLE = (
    "{} cannot be reached: check that its server runs, and the host, port, database, user and password; nothing was "
    "answered"
)
UNSURE = (
    "{} may have been charged, and nothing was answered: its server was lost while the charge was written; look with "
    "`veil ledger show`, then ask again"
)
UNSURE_MADE = (
    "{} may have been made, or not: its server was lost meanwhile; look with `veil ledger show`, then try again"
)
NO_RIGHTS = "{} cannot be used: ask the owner of its database for the rights that the guide names"
READ_ONLY = "{} takes no charges, its server is read-only: use the address of the primary server; nothing was charged"
OTHER_TABLES = "{} cannot be used, the tables are not as Veil made them: restore the database from a backup"
COLLISION = "{} was charged by another process at the same moment: ask again; nothing was charged"
SERVER_FULL = "{} cannot grow, the disk of its server is full: free some space and ask again; nothing was answered"
EDITED_ENTRY = "entry {} does not match its hash: the ledger was edited; restore it from a backup"
NO_ACCOUNT = "there is no account {!r}: charge the whole table, or a part of one of its splits"
LOW_THRESHOLD = "the threshold must be at least {}: at {} about {:.3g} empty cells would pass it"
ALLOWED = "allowed must be an array of truth values, cells by candidates, with a true one for each cell"
BINS_FOR = "bins can be chosen for numeric columns without declared ones, each named once"
WAYS = "ways to cut must be a table of whole numbers, with a row for each: places among the fine cuts, ascending"
MUCH_MEMORY = "minimise would take too much memory for so many weights: use coarser or fewer columns"
RISING = "give from 1 to {} levels, each larger than the one before"
UNEVEN = "each level must be a simple fraction of the next one, such as 1/2 or 7/10"
ATTEMPTS = "give one attempt or more, and a rate from 0.001 to 10"
SPLIT_WEIGHTS = "weights must be whole numbers above zero, such as 4, 1"
NO_MEMORY = (
    "memory ran out: use fewer columns, bins or rows, rows in Parquet or CSV files in place of those in memory, or a "
    "larger machine; veil train --dry-run says about how much a run takes"
)
STREAM_MEMORY = "not enough memory to read the rows: use fewer columns, or a larger machine"
STREAM_BROKEN = "the rows cannot be read to their end: check the file, the query or the connection they come from"
STREAM_READ = "this reader was read before, and can be read but once: make a new one"
STREAM_DISK = (
    "the disk has no room for the codes of the rows: make room in the folder for temporary files, or name another one "
    "in TMPDIR; nothing was charged"
)
SPARK_FRAME = "of Spark, rows must be a data frame that is no endless stream (pandas on Spark: df.to_spark())"
SPARK_ELSEWHERE = "the rows are with Spark, and their codes alone can be had here: collect the rows first"
SPARK_BROKEN = (
    "Spark did not bring the rows to their end: check that it runs, that its workers can read the rows, have Veil and "
    "are started by the Python that has it (PYSPARK_PYTHON), and that there is memory; nothing was charged"
)
SPARK_OTHERS = (
    "Spark's workers have another version of Veil, Python, NumPy, PyArrow or Narwhals: install the same ones there; "
    "nothing was charged"
)
SPARK_TWICE = (
    "a part of the rows did not arrive from Spark whole and exactly once: read them again; nothing was charged"
)
SPARK_CHANCE = (
    "the data frame is drawn at random (rand, uuid and the like): where a task is repeated, a row could come twice; "
    "write it to a table first, and hand that over"
)
SPARK_FILES = (
    "spark: is for Parquet, and for tables that Spark knows, such as spark:/data/visits.parquet or "
    "spark:hospital.visits: check the path, and read other files without it"
)
SPARK_UNREAD = "Spark cannot read {}: check the path, or the name of the table"
SPARK_MISSING = "Spark needs one more package: run `pip install 'veil[spark]'`"
SPARK_START = "Spark cannot be started or reached: check SPARK_REMOTE or, where that is not set, that Java 17 is there"
