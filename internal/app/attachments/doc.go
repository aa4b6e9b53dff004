// Package attachments holds the parts of a prompt that are not its text: images,
// resources of MCP servers, remarks on the user's own changes, and the command lines that
// they ran; and completes names after an @. It guarantees that each reaches the model once,
// and is marked as the user's.
package attachments
