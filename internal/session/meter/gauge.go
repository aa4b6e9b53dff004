package meter

import "github.com/bb2d0cf4/agent/internal/llm"

// bytesPerToken is what is assumed before a provider has counted: less than is
// usual, so that the first guess is rather too large than too small.
const bytesPerToken = 3.3

// gauge tells the tokens of a request from its bytes. It learns from what
// providers count; its zero value assumes something sensible.
type gauge struct{ ratio float64 }

// learn takes what a provider has counted for a request.
func (g *gauge) learn(bytes int, tokens int64) {
	if tokens < 50 {
		return // the rounding would weigh too much
	}
	g.ratio = min(max(float64(bytes)/float64(tokens), 1), 8)
}

// tokens estimates the tokens of so many bytes.
func (g gauge) tokens(bytes int) int64 { return int64(float64(bytes)/g.perToken()) + 1 }

// bytes estimates the bytes of so many tokens.
func (g gauge) bytes(tokens int64) int { return int(float64(tokens) * g.perToken()) }

func (g gauge) perToken() float64 {
	if g.ratio == 0 {
		return bytesPerToken
	}
	return g.ratio
}

// What a message costs beside its text, in bytes; an image costs what providers
// charge for one of middling size.
const (
	messageBytes = 24
	callBytes    = 60
	imageBytes   = 4000
)

// Size is what m weighs in a request, in bytes of text.
func Size(m llm.Message) int {
	n := messageBytes + len(m.CallID) + len(m.Extra)
	for _, p := range m.Parts {
		switch p.Kind {
		case llm.TextPart:
			n += len(p.Text)
		case llm.ImagePart:
			n += imageBytes
		case llm.ReasoningPart: // is not sent
		}
	}
	for _, c := range m.Calls {
		n += callBytes + len(c.ID) + len(c.Name) + len(c.Args) + len(c.Extra)
	}
	return n
}
