package remote

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// omissions are the parts of conversations that a server has refused, whatever the
// protocol. Requests leave them out, so that the conversation can go on.
type omissions struct {
	images  bool            // all of them
	refused map[uint64]bool // sums of certain images, and of parts that only their provider can read
}

var sumSeed = maphash.MakeSeed()

// refuse leaves out data from now on.
func (o *omissions) refuse(data []byte) {
	if o.refused == nil {
		o.refused = map[uint64]bool{}
	}
	o.refused[maphash.Bytes(sumSeed, data)] = true
}

func (o *omissions) refuses(data []byte) bool {
	return data != nil && o.refused[maphash.Bytes(sumSeed, data)]
}

// UnseenImage is the remark in the place of an image for a model that takes none.
const UnseenImage = "(an image that this model cannot see)"

// unreadableImage is the remark in the place of a certain image.
const unreadableImage = "(an image that the server could not read)"

// imagesRefused matches the refusal of any image.
var imagesRefused = lazyregexp.New(`(not|n't|cannot|only) (support|accept|process|take) (image inputs?|images|image content|image_url|vision|multimodal)` +
	`|(image inputs?|images|image_url|vision|multimodal) (is|are) (not supported|only supported)|unknown variant .image_url|at most 0 image|not a multimodal model|support image input`)

// RefusesImages reports whether the text of a refusal is about any image, and not a
// certain one.
func RefusesImages(text string) bool { return imagesRefused.MatchString(strings.ToLower(text)) }

// imageRefused matches the refusal of a certain image.
var imageRefused = lazyregexp.New(`(could not|cannot|can't|unable to|failed to) (process|decode|load|open|identify|read)( the| this| input)? image|invalid image|unsupported image|image data .{0,30}(not|invalid)|not a valid image`)

// refusesImage reports whether a refusal is about a certain image.
func refusesImage(e *llm.Error) bool { return imageRefused.MatchString(strings.ToLower(e.Message)) }

// extrasRefused matches the refusal of signatures and of encrypted reasoning, which the
// server or the key that made them could read.
var extrasRefused = lazyregexp.New("invalid .?signature|signature.{0,20} (is |are )?(not valid|invalid)|(corrupted|invalid) thought.?signature|" +
	"invalid_encrypted_content|encrypted.content.* could not be (verified|decrypted)|thinking.* blocks .*cannot be modified")

// learn leaves out the parts of messages that a refusal is about. It reports whether
// there are such parts; messages are those of the refused request.
func (o *omissions) learn(refusal *llm.Error, messages []llm.Message) bool {
	if !refusal.AboutForm() {
		return false
	}
	text := strings.ToLower(refusal.Message)
	switch {
	case RefusesImages(text):
		learned := !o.images && slices.ContainsFunc(messages, llm.Message.Shows)
		o.images = o.images || learned
		return learned
	case refusesImage(refusal):
		return o.refuseNewest(messages)
	case extrasRefused.MatchString(text):
		return o.refuseExtras(messages)
	}
	return false
}

// refuseNewest leaves out the images of the newest message that has some; the server has
// accepted the earlier ones. It returns false if no message has images.
func (o *omissions) refuseNewest(messages []llm.Message) bool {
	for _, m := range slices.Backward(messages) {
		if !m.Shows() {
			continue
		}
		for _, p := range m.Parts {
			if p.Kind == llm.ImagePart {
				o.refuse(p.Data)
			}
		}
		return true
	}
	return false
}

// refuseExtras leaves out all that only its provider can read. It returns false if there
// is nothing of that kind.
func (o *omissions) refuseExtras(messages []llm.Message) bool {
	extras := extrasOf(messages)
	for _, extra := range extras {
		o.refuse(extra)
	}
	return len(extras) > 0
}

// extrasOf returns the fields of messages that providers want back unchanged.
func extrasOf(messages []llm.Message) (extras [][]byte) {
	for _, m := range messages {
		if m.Extra != nil {
			extras = append(extras, m.Extra)
		}
		for _, c := range m.Calls {
			if c.Extra != nil {
				extras = append(extras, c.Extra)
			}
		}
	}
	return extras
}

// apply returns messages without the refused parts. It changes nothing of messages.
func (o *omissions) apply(messages []llm.Message) []llm.Message {
	if !o.images && o.refused == nil {
		return messages
	}
	messages = slices.Clone(messages)
	for i := range messages {
		m := &messages[i]
		if o.refuses(m.Extra) {
			m.Extra = nil
		}
		if slices.ContainsFunc(m.Calls, func(c llm.ToolCall) bool { return o.refuses(c.Extra) }) {
			m.Calls = slices.Clone(m.Calls)
			for j := range m.Calls {
				m.Calls[j].Extra = nil
			}
		}
		if m.Shows() {
			m.Parts = o.parts(m.Parts)
		}
	}
	return messages
}

// parts returns parts with a remark in the place of each refused image.
func (o *omissions) parts(parts []llm.Part) []llm.Part {
	parts = slices.Clone(parts)
	for i, p := range parts {
		switch {
		case p.Kind != llm.ImagePart:
		case o.images:
			parts[i] = llm.Part{Kind: llm.TextPart, Text: UnseenImage}
		case o.refuses(p.Data):
			parts[i] = llm.Part{Kind: llm.TextPart, Text: unreadableImage}
		}
	}
	return parts
}
