package remote

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/lazyregexp"
	"github.com/bb2d0cf4/agent/internal/llm"
)

// omissions are the parts of requests that a server has refused, whatever the protocol.
// Requests leave them out, so that the conversation can go on.
type omissions struct {
	images    bool            // all of them
	maxImages int             // of a request, the newest ones; zero: all
	refused   map[uint64]bool // sums of certain images, and of parts that only their provider can read
	tools     map[string]bool // names of tools
	maxTools  int             // of a request; zero: all
	maxText   int             // letters of a foreign tool's description; zero: all
	told      int             // the maxTools of which the person was told

	// The parts that requests had which the server accepted.
	seen    map[uint64]bool // sums of images
	offered map[string]llm.ToolSpec
}

var sumSeed = maphash.MakeSeed()

// refuse leaves out data from now on.
func (o *omissions) refuse(data []byte) {
	if o.refused == nil {
		o.refused = map[uint64]bool{}
	}
	o.refused[sumOf(data)] = true
}

func (o *omissions) refuses(data []byte) bool {
	return data != nil && len(o.refused) > 0 && o.refused[sumOf(data)]
}

// sumOf returns a sum of a part, in a time that does not depend on its size.
func sumOf(data []byte) uint64 {
	const end = 4 << 10
	if len(data) <= 2*end {
		return maphash.Bytes(sumSeed, data)
	}
	var h maphash.Hash
	h.SetSeed(sumSeed)
	_ = binary.Write(&h, binary.LittleEndian, int64(len(data))) // a hash takes all
	_, _ = h.Write(data[:end])
	_, _ = h.Write(data[len(data)-end:])
	return h.Sum64()
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

// extrasRefused matches the refusal of signatures and of encrypted reasoning, which the
// server or the key that made them could read.
var extrasRefused = lazyregexp.New("invalid .?signature|signature.{0,20} (is |are )?(not valid|invalid)|(corrupted|invalid) thought.?signature|" +
	"invalid_encrypted_content|encrypted.content.* could not be (verified|decrypted)|thinking.* blocks .*cannot be modified")

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

// apply returns req without the refused parts. It changes nothing of req's.
func (o *omissions) apply(req llm.Request) llm.Request {
	req.Messages = o.messages(req.Messages)
	if len(o.tools) > 0 || o.maxText > 0 || o.maxTools > 0 && len(req.Tools) > o.maxTools {
		req.Tools = o.offer(req.Tools)
	}
	return req
}

// offer returns tools without the refused ones, and without the last foreign ones if they
// are too many. Descriptions that are too long are cut.
func (o *omissions) offer(tools []llm.ToolSpec) []llm.ToolSpec {
	tools = slices.DeleteFunc(slices.Clone(tools), func(t llm.ToolSpec) bool { return o.tools[t.Name] })
	for i := len(tools) - 1; i >= 0 && o.maxTools > 0 && len(tools) > o.maxTools; i-- {
		if tools[i].Foreign {
			tools = slices.Delete(tools, i, i+1)
		}
	}
	for i, t := range tools {
		if t.Foreign && o.maxText > 0 && len(t.Description) > o.maxText {
			tools[i].Description = strings.ToValidUTF8(t.Description[:o.maxText], "")
		}
	}
	return tools
}

// messages returns messages without the refused parts.
func (o *omissions) messages(messages []llm.Message) []llm.Message {
	if !o.images && o.maxImages == 0 && o.refused == nil {
		return messages
	}
	messages = slices.Clone(messages)
	left := o.maxImages
	for i := range slices.Backward(messages) {
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
			m.Parts = o.parts(m.Parts, &left)
		}
	}
	return messages
}

// parts returns parts with a remark in the place of each refused image, or of an image for
// which none of the images is left that a request may have.
func (o *omissions) parts(parts []llm.Part, left *int) []llm.Part {
	parts = slices.Clone(parts)
	for i, p := range slices.Backward(parts) {
		var remark string
		switch {
		case p.Kind != llm.ImagePart:
			continue
		case o.images:
			remark = UnseenImage
		case o.refuses(p.Data):
			remark = unreadableImage
		case o.maxImages > 0 && *left == 0:
			remark = fmt.Sprintf("(an image that is left out: the server takes %d in a request)", o.maxImages)
		default:
			*left--
			continue
		}
		parts[i] = llm.Part{Kind: llm.TextPart, Text: remark}
	}
	return parts
}

// accept records the parts of a request that the server accepted.
func (o *omissions) accept(req llm.Request) {
	for _, t := range req.Tools {
		if t.Foreign && !o.offered[t.Name].Equal(t) {
			if o.offered == nil {
				o.offered = map[string]llm.ToolSpec{}
			}
			o.offered[t.Name] = t
		}
	}
	for _, p := range o.newImages(req.Messages) {
		if o.seen == nil {
			o.seen = map[uint64]bool{}
		}
		o.seen[sumOf(p)] = true
	}
}

// newImages returns the images of messages that no accepted request had.
func (o *omissions) newImages(messages []llm.Message) (images [][]byte) {
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == llm.ImagePart && !o.seen[sumOf(p.Data)] {
				images = append(images, p.Data)
			}
		}
	}
	return images
}

// newTools returns the names of foreign tools that no accepted request had.
func (o *omissions) newTools(tools []llm.ToolSpec) (names []string) {
	for _, t := range tools {
		if t.Foreign && !o.offered[t.Name].Equal(t) {
			names = append(names, t.Name)
		}
	}
	return names
}
