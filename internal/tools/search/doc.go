// Package search lists, finds and searches files below a folder. It guarantees that its
// answers depend only on the files: with or without ripgrep, and on any number of
// processors, it returns the same lines in the same order. It never leaves its fs.FS,
// follows no symlinks, honours .gitignore files as git does, and bounds its results.
package search
