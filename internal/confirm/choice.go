package confirm

import (
	"errors"
	"strings"

	"github.com/bb2d0cf4/agent/internal/sanitize"
)

// Choice is a question of the model in its own words. An approval answers it, and allows
// nothing. No rule and no mode answers it.
type Choice struct {
	From    string // who asks, if not the model
	Reader  string // who reads the answer, if not the model, which then never gets the words
	Text    string
	Options []string // answers to choose from; may be empty
}

// Asked returns the question with who asks it, if not the model.
func (c *Choice) Asked() string {
	if c.From == "" {
		return c.Text
	}
	return c.From + " asks: " + c.Text
}

func (c *Choice) facts(Request) Facts {
	first, _, _ := strings.Cut(strings.TrimSpace(c.Asked()), "\n")
	return Facts{Title: sanitize.Line(sanitize.Exact(first)), Kind: "choice", About: c.Text}
}

func (*Choice) fits(v Verdict) error {
	if v.Answer == "" {
		return errors.New("the reviewer did not answer the question")
	}
	v.Answer = ""
	return v.once()
}
