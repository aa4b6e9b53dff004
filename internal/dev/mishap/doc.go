// Package mishap runs a program and kills it, or makes a system call fail, at its nth call
// that changes the disk. It works on Linux on AMD64.
package mishap
