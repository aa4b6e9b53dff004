package meter

import "github.com/bb2d0cf4/agent/internal/llm"

// bytesPerToken is assumed before a provider has counted. It is lower than usual, so
// that the first guess is too large rather than too small.
const bytesPerToken = 3.3

// estimator converts between the bytes and the tokens of a request. It learns from the
// counts of providers; its zero value is usable.
type estimator struct{ ratio float64 }

// learn takes a provider's count for a request.
func (g *estimator) learn(bytes int, tokens int64) {
	if tokens < 50 {
		return // the rounding would weigh too much
	}
	g.ratio = min(max(float64(bytes)/float64(tokens), 1), 8)
}

// tokens estimates the tokens of a number of bytes.
func (g estimator) tokens(bytes int) int64 { return int64(float64(bytes)/g.perToken()) + 1 }

// bytes estimates the bytes of a number of tokens.
func (g estimator) bytes(tokens int64) int { return int(float64(tokens) * g.perToken()) }

func (g estimator) perToken() float64 {
	if g.ratio == 0 {
		return bytesPerToken
	}
	return g.ratio
}

// The weight of a message beside its text, in bytes; an image weighs as much as
// providers charge for one of medium size.
const (
	messageBytes = 24
	callBytes    = 60
	imageBytes   = 4000
)

// Size returns the weight of m in a request, in bytes of text. Reasoning that goes back with
// an answer is in Extra; see Tally for servers that want more.
func Size(m llm.Message) int {
	n := messageBytes + len(m.CallID) + len(m.Extra)
	for _, p := range m.Parts {
		switch p.Kind {
		case llm.TextPart:
			n += len(p.Text)
		case llm.ImagePart:
			n += imageBytes
		case llm.ReasoningPart:
		}
	}
	for _, c := range m.Calls {
		n += callBytes + len(c.ID) + len(c.Name) + len(c.Args) + len(c.Extra)
	}
	return n
}
