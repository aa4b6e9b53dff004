package regularfile

// noWait is not needed: a pipe has no name in a folder.
const noWait = 0
