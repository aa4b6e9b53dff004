package openai

import (
	"slices"
	"sync"

	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
)

// segmentSize is the size of a piece of the encoded conversation in bytes: large enough
// for few pieces, small enough that growing copies nothing.
const segmentSize = 64 << 10

// conversation caches the encoded form of the messages sent last, so that a request
// only encodes new ones. Encoded bytes never change, so a request in flight keeps its
// own.
type conversation struct {
	mu       sync.Mutex
	sent     []llm.Message     // the encoded messages; our own copies
	ids      map[string]string // the name of each call in sent, by its id
	segments [][]byte          // the encoded messages, each after a comma
	scratch  []byte
	dialect  dialect // of the encoded messages
	offers   bool    // whether their request offers tools
	effort   string  // of their request
	answer   string  // the schema of the answer in it
	source   string  // see messageEncoder
	markers  bool    // whether the server is asked to cache
	hour     bool    // whether for an hour
	shown    bool    // the images of the results at the end of sent are encoded, too
	images   int     // bytes of the encoded images, which say nothing about their tokens
	turns    []turn  // the newest ones, if they can carry cache markers

	specs []llm.ToolSpec
	tools []byte // the encoded specs
}

// turn is the text for the model between two of its answers. A cache marker for all up to
// its end goes to a place in the segments.
type turn struct{ segment, at int }

// query is one encoded request.
type query struct {
	tools    []byte   // a JSON array; empty for none
	messages [][]byte // the messages, separated by commas
	images   int      // bytes of the images in messages
}

// size returns the size of the text in q in bytes.
func (q query) size() int {
	n := len(q.tools) - q.images
	for _, m := range q.messages {
		n += len(m)
	}
	return n
}

// encode encodes req. It reuses the previous encoding if req begins with the same
// messages.
func (c *conversation) encode(req llm.Request, d dialect) query {
	c.mu.Lock()
	defer c.mu.Unlock()
	offers := len(req.Tools) > 0
	if d != c.dialect || offers != c.offers || !c.continues(req.Messages) {
		c.sent, c.segments, c.turns, c.shown, c.images, c.ids = nil, nil, nil, false, 0, map[string]string{}
		c.dialect, c.offers = d, offers
	}
	c.effort, c.answer = req.Effort, string(req.Answer)
	enc := messageEncoder{dialect: d, tools: offers, parts: c.markers && d&noMarkers == 0, source: c.source, ids: c.ids}
	for _, m := range req.Messages[len(c.sent):] {
		if m.Role != llm.ToolReply {
			c.addImages(enc)
		}
		c.add(enc, m)
	}
	c.addImages(enc)
	c.encodeTools(req.Tools)
	q := query{tools: c.tools, images: c.images}
	if req.System != "" {
		system := enc.append(nil, llm.TextMessage(llm.System, req.System))
		if enc.parts {
			system = slices.Insert(system, len(system)-len(partsEnd), c.marker()...)
		}
		q.messages = append(q.messages, system)
	}
	for i := range c.segments {
		q.messages = append(q.messages, c.pieces(i)...)
	}
	if req.System == "" && len(q.messages) > 0 {
		q.messages[0] = q.messages[0][1:] // no comma before the first message
	}
	return q
}

// pieces returns a segment with the cache markers.
func (c *conversation) pieces(segment int) [][]byte {
	var pieces [][]byte
	from, data := 0, c.segments[segment]
	for _, t := range c.turns {
		if t.segment == segment {
			pieces = append(pieces, data[from:t.at], c.marker())
			from = t.at
		}
	}
	return append(pieces, data[from:])
}

// lasting reports whether the server caches for an hour.
func (c *conversation) lasting(d dialect) bool {
	return c.markers && c.hour && d&(noMarkers|shortCache) == 0
}

// marker returns the cache marker of the last request's dialect.
func (c *conversation) marker() []byte { return []byte(remote.CacheMarker(c.lasting(c.dialect))) }

// used reports whether a call of the conversation has this id.
func (c *conversation) used(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.ids[id]
	return ok
}

// last returns whether the last request offers tools, its effort and the schema of its answer.
func (c *conversation) last() (tools bool, effort, answer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offers, c.effort, c.answer
}

func (c *conversation) continues(messages []llm.Message) bool {
	return c.ids != nil && len(messages) >= len(c.sent) &&
		slices.EqualFunc(c.sent, messages[:len(c.sent)], llm.Message.Equal)
}

// between is the answer between a tool's result and a user's message, for servers that
// insist on one. It must not be empty.
const between = "(The user continues.)"

func (c *conversation) add(enc messageEncoder, m llm.Message) {
	var after llm.Role
	if n := len(c.sent); n > 0 {
		after = c.sent[n-1].Role
	}
	c.put(enc, m, after)
	m.Parts, m.Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
	c.sent, c.shown = append(c.sent, m), false
	for _, call := range m.Calls {
		c.ids[call.ID] = call.Name
	}
}

// put encodes m after a message of the given role.
func (c *conversation) put(enc messageEncoder, m llm.Message, after llm.Role) {
	c.scratch = c.scratch[:0]
	answered := after == llm.Assistant
	if enc.dialect&alternate != 0 && m.Role == llm.User && after == llm.ToolReply {
		c.scratch = enc.append(append(c.scratch, ','), llm.TextMessage(llm.Assistant, between))
		answered = true
	}
	c.scratch = enc.append(append(c.scratch, ','), m)
	last := len(c.segments) - 1
	if last < 0 || cap(c.segments[last])-len(c.segments[last]) < len(c.scratch) {
		c.segments = append(c.segments, make([]byte, 0, max(segmentSize, len(c.scratch))))
		last++
	}
	c.segments[last] = append(c.segments[last], c.scratch...)
	c.images += enc.images(m)
	if enc.parts && m.Role != llm.Assistant {
		c.mark(turn{last, len(c.segments[last]) - len(partsEnd)}, answered)
	}
}

// addImages adds a message with the images of the results at the end of the conversation, once:
// this protocol has only text in results.
func (c *conversation) addImages(enc messageEncoder) {
	if c.shown || enc.dialect&noImages != 0 {
		return
	}
	c.shown = true
	start := len(c.sent)
	for start > 0 && c.sent[start-1].Role == llm.ToolReply {
		start--
	}
	m := llm.Message{Role: llm.User}
	for _, result := range c.sent[start:] {
		for _, p := range result.Parts {
			if p.Kind == llm.ImagePart {
				m.Parts = append(m.Parts, p)
			}
		}
	}
	if m.Parts != nil { // the text is last: on some servers only a text can carry a cache marker
		m.Parts = append(m.Parts, llm.Part{Kind: llm.TextPart, Text: shown})
		c.put(enc, m, llm.ToolReply)
	}
}

// mark records the end of a turn, which is a new one if it follows an answer.
func (c *conversation) mark(t turn, answered bool) {
	if n := len(c.turns); !answered && n > 0 {
		c.turns = c.turns[:n-1]
	}
	c.turns = append(c.turns, t)
	if extra := len(c.turns) - remote.MarkedTurns; extra > 0 {
		c.turns = slices.Delete(c.turns, 0, extra)
	}
}

func (c *conversation) encodeTools(specs []llm.ToolSpec) {
	if slices.EqualFunc(c.specs, specs, llm.ToolSpec.Equal) {
		return
	}
	c.specs, c.tools = slices.Clone(specs), nil
	for i, s := range specs {
		lead := byte(',')
		if i == 0 {
			lead = '['
		}
		c.tools = appendTool(append(c.tools, lead), s, c.source)
	}
	if len(specs) > 0 {
		c.tools = append(c.tools, ']')
	}
}
