package settings

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/config/catalog"
)

// Models lists the public facts about the models of one hosted provider, or of all.
func Models(provider ...string) ([]string, error) {
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MODEL\tCONTEXT\tINPUT\tOUTPUT\tCACHED\tPICTURES")
	known := 0
	for _, h := range config.Hosted {
		if len(provider) > 0 && provider[0] != h.Name {
			continue
		}
		for _, m := range catalog.Models(h.Name) {
			pictures := "no"
			if m.Pictures {
				pictures = "yes"
			}
			fmt.Fprintf(w, "%s/%s\t%d\t%s\t%s\t%s\t%s\n", h.Name, m.Name, m.Window, price(m.Input), price(m.Output), price(m.Cached), pictures)
			known++
		}
	}
	if known == 0 {
		return nil, fmt.Errorf("no models of %q are known: name a hosted provider, or ask its server with /model", provider[0])
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	return append([]string{
		"Facts of " + catalog.Date() + ", in USD for a million tokens. What you set in the configuration counts before them.",
	}, strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")...), nil
}

// KnownModels returns the model of cfg and the known ones of hosted providers, as provider/name.
func KnownModels(cfg config.Config) (all []string) {
	if cfg.Model != "" {
		all = append(all, cfg.Model)
	}
	for _, h := range config.Hosted {
		for _, m := range catalog.Models(h.Name) {
			if ref := h.Name + "/" + m.Name; ref != cfg.Model {
				all = append(all, ref)
			}
		}
	}
	return all
}

func price(usd float64) string {
	if usd == 0 {
		return "?"
	}
	return strconv.FormatFloat(usd, 'f', -1, 64)
}
