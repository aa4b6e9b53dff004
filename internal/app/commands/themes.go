package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bb2d0cf4/agent/internal/app/command"
	"github.com/bb2d0cf4/agent/internal/app/settings"
	"github.com/bb2d0cf4/agent/internal/nearest"
	"github.com/bb2d0cf4/agent/internal/repl/theme"
)

// themes holds the command about the colors.
type themes struct{ *Set }

func (t themes) list() []command.Command {
	return []command.Command{
		{Name: "theme", Args: "[name]", Help: "choose the colors and save them in your settings", Group: command.Program, Run: t.theme},
	}
}

// described describes the themes.
var described = map[string]string{
	theme.Auto: "dark or light, like your terminal's background", "dark": "for a dark background", "light": "for a light background",
	"high-contrast": "contrast of at least 7:1", "colorblind": "blue and orange for green and red",
	"ansi": "your terminal's own sixteen colors", theme.None: "no color",
}

// theme changes the theme to the named one, or lets the person choose with a preview.
func (t themes) theme(ctx context.Context, name string) (command.Reply, error) {
	if name != "" {
		return useTheme(ctx, name)
	}
	p := &command.Pick{Title: "Choose a theme", Choose: useTheme}
	for _, n := range theme.Names() {
		p.Items = append(p.Items, command.Choice{ID: n, Title: n, Detail: described[n], Theme: n})
	}
	return command.Reply{Pick: p}, nil
}

func useTheme(ctx context.Context, name string) (command.Reply, error) {
	if !slices.Contains(theme.Names(), name) {
		if near := nearest.Name(name, theme.Names()); near != "" {
			return command.Reply{}, fmt.Errorf("no theme %q; did you mean %s?", name, near)
		}
		return command.Reply{}, fmt.Errorf("no theme %q; the themes are %s", name, strings.Join(theme.Names(), ", "))
	}
	reply := command.Reply{Theme: name, Text: "Theme: " + name + "."}
	if err := settings.Set(ctx, "interface.theme", name); err != nil {
		reply.Text = "Theme: " + name + ", for this session only: saving it failed: " + err.Error() + "."
	}
	return reply, nil
}
