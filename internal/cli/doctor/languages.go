package doctor

import (
	"github.com/bb2d0cf4/agent/internal/config"
	"github.com/bb2d0cf4/agent/internal/langserver"
)

// checkLanguages lists the language servers for the project in dir, or why it has none.
func checkLanguages(dir string, cfg config.Config) (all []finding) {
	if cfg.LanguageServers == "off" {
		return []finding{fine("off: names are looked up by search")}
	}
	var missing []finding
	for _, u := range langserver.New(langserver.Options{Folders: []string{dir}, Programs: cfg.Programs()}).List() {
		if u.Path != "" {
			all = append(all, fine(u.Name+", "+u.Path))
		} else {
			missing = append(missing, finding{weak, u.Name + " is not used: " + u.Reason, "names are looked up by search", "agent help language-servers"})
		}
	}
	if len(all) == 0 && len(missing) > 0 {
		return missing[:1] // one for a language is enough
	}
	if len(all) == 0 {
		return []finding{fine("no language server for this project is known")}
	}
	return all
}
