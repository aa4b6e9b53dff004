package firstrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/chatgpt"
	"github.com/bb2d0cf4/agent/internal/repl/dialog"
	"github.com/bb2d0cf4/agent/internal/repl/picker"
	"github.com/bb2d0cf4/agent/internal/sanitize"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// signInTime is how long a sign-in waits for the browser.
const signInTime = 10 * time.Minute

// bySignIn signs in with ChatGPT and chooses a model of the provider.
func (c *chooser) bySignIn(ctx context.Context, name string) (ref string, err error) {
	m, err := c.Config.Lookup(name + "/x")
	if err != nil {
		return "", err
	}
	if err := c.allow(ctx, m); err != nil {
		return "", err
	}
	a, err := c.ask(ctx, dialog.Page{
		Title: "Continue with ChatGPT", Back: true,
		Text: []string{
			"You sign in with a browser on this machine, and your ChatGPT plan pays for the requests. The tokens are kept in the system's keyring, or without one in a file that only you can read.",
			"Is the browser elsewhere? Leave with Esc, then run: agent login --paste",
		},
		Choices: []picker.Item{{Title: "Show the address of the page"}},
	})
	if err != nil || a.Choice != 0 {
		return "", err
	}
	wait, cancel := timelimit.Context(ctx, signInTime)
	defer cancel()
	who, err := provider.SignIns(c.Config).SignIn(wait, m.Endpoint.Login, m.Endpoint.BaseURL, chatgpt.Person{Show: func(page string) {
		_, _ = fmt.Fprintf(c.Terminal.Out, "Open this address in a browser on this machine:\r\n%s\r\nWaiting for the browser; Ctrl+C gives up.\r\n", sanitize.Line(page)) // the terminal may be gone
	}})
	if wait.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("the sign-in was given up: %w", timelimit.Explain(wait, errors.New("no answer from the browser")))
	}
	if err != nil {
		return "", err
	}
	c.notes = append(c.notes, "signed in as "+who.Email+"; agent logout ends it; what it uses: "+chatgpt.Usage)
	models, err := provider.Client(c.Config, m).ListModels(ctx)
	if err != nil {
		return "", err
	}
	return c.pick(ctx, name, name, models)
}
