package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bb2d0cf4/agent/internal/app/allowedservers"
	"github.com/bb2d0cf4/agent/internal/app/keystore"
	"github.com/bb2d0cf4/agent/internal/app/provider"
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/llm"
	"github.com/bb2d0cf4/agent/internal/llm/remote"
	"github.com/bb2d0cf4/agent/internal/timelimit"
)

// doctorTime bounds the wait for a server.
const doctorTime = 10 * time.Second

// silent is the consequence of having no model.
const silent = "no prompt can be answered"

// checkModel lists the provider's models, which needs the address, the network and the
// key. It asks a server on this machine for the model's abilities.
func checkModel(ctx context.Context, cfg config.Config, cfgErr error) []finding {
	if cfgErr != nil {
		return []finding{{weak, "not checked: the configuration cannot be used", silent, "see config"}}
	}
	ctx, cancel := timelimit.Context(ctx, doctorTime)
	defer cancel()
	m, err := provider.Choose(cfg)
	if unasked := new(allowedservers.UnaskedError); errors.As(err, &unasked) {
		return []finding{{broken, m.Ref + ": " + unasked.Why, silent, unasked.Command() + " shows and allows it; a session asks too"}}
	}
	if errors.Is(err, provider.ErrNoModel) {
		return []finding{{broken, "no model is configured", silent, "agent config model asks for one; agent demo needs none"}}
	}
	if err != nil {
		return []finding{{broken, err.Error(), silent, "agent config model, or set AGENT_MODEL to PROVIDER/NAME"}}
	}
	if m.Provider == config.ScriptProvider {
		if _, err := provider.New(cfg, m); err != nil {
			return []finding{{broken, err.Error(), silent, "give --model script:FILE a readable file"}}
		}
		return []finding{fine(m.Ref)}
	}
	return checkServer(ctx, cfg, m)
}

func checkServer(ctx context.Context, cfg config.Config, m config.Model) []finding {
	started := time.Now()
	models, err := provider.Client(cfg, m).ListModels(ctx)
	took := time.Since(started).Milliseconds()
	where := m.Ref + " at " + remote.Shown(m.Endpoint.BaseURL)
	if err != nil {
		return []finding{{broken, fmt.Sprintf("%s: %v", where, timelimit.Explain(ctx, err)), silent, serverFix(ctx, cfg, m, err)}}
	}
	if len(models) > 0 && !slices.ContainsFunc(models, func(i remote.ModelInfo) bool { return i.ID == m.Name }) {
		return []finding{{weak, where + " answers, but does not list this model", "it will probably refuse every prompt", "check the name; it lists " + models[0].ID}}
	}
	m, facts, err := provider.Look(ctx, cfg, m)
	if err != nil {
		return []finding{{broken, fmt.Sprintf("%s: %v", where, timelimit.Explain(ctx, err)), silent, serverFix(ctx, cfg, m, err)}}
	}
	said := ""
	if s := facts.Summary(); s != "" {
		said = "; " + s
	}
	if a, err := provider.SignIns(cfg).Account(m.Endpoint.BaseURL); err == nil && provider.SignedIn(cfg, m) {
		said += "; signed in as " + a.Email + ", whose ChatGPT plan pays"
	}
	list := []finding{fine(fmt.Sprintf("%s answers in %d ms%s", where, took, said))}
	for _, p := range provider.Problems(m, facts) {
		g := weak
		if p.Fatal {
			g = broken
		}
		list = append(list, finding{g, p.What, p.Means, p.Do})
	}
	return list
}

// serverFix suggests a remedy for a server's error.
func serverFix(ctx context.Context, cfg config.Config, m config.Model, err error) string {
	env, e := m.Endpoint.APIKeyEnv, new(llm.Error)
	refused := errors.As(err, &e) && e.Kind == llm.Unauthorized
	_, kept := keystore.Open(cfg.Home).Get(ctx, m.Endpoint.BaseURL)
	switch {
	case refused && provider.SignedIn(cfg, m):
		return "sign in again: agent login"
	case len(m.Endpoint.APIKeyCommand) > 0 && refused:
		return "the key comes from the command " + m.Endpoint.APIKeyCommand[0] + ": run it by hand"
	case refused && env != "" && os.Getenv(env) != "":
		return "put the right key into " + env
	case refused && kept != nil:
		return "the keyring may be locked: unlock it, or export " + env + "=…"
	case refused && provider.MissingKey(cfg, m) != nil:
		return "the key is missing: export " + env + "=…, or enter one with agent config model"
	case refused:
		return "enter another key: agent config model"
	case e.Kind == llm.Unreachable:
		return "start the server, or check the network and base_url"
	}
	return "check the address and the model's name"
}

// checkDialects lists the learned dialects; without any it finds nothing.
func checkDialects(home string) []finding {
	all, err := provider.OpenDialects(home).List()
	if err != nil {
		return []finding{{weak, err.Error(), "what servers demand is learned again in every session", "agent config forget-dialects deletes the file"}}
	}
	var list []finding
	for _, d := range all {
		wire := ""
		if d.Wire != "" {
			wire = " (" + d.Wire + ")"
		}
		list = append(list, fine(fmt.Sprintf("%s at %s%s: %s", d.Model, d.BaseURL, wire, strings.Join(d.Learned, ", "))))
	}
	if len(list) > 0 {
		list[len(list)-1].fix = "agent config forget-dialects, if a server has changed"
	}
	return list
}
