// Package attachments holds the parts of a prompt that are not its text: images,
// remarks on the user's own changes, and the command lines that they ran. It
// guarantees that each reaches the model once, and is marked as the user's.
package attachments
