package doctor

// checkSystem names guarantees of the program on Linux that it does not give on system. The checks of the sandbox, of
// trials and of the shell have findings of their own.
func checkSystem(system string) []finding {
	const page = "agent help platforms"
	switch system {
	case "linux":
		return nil
	case "darwin":
		return []finding{{weak, system, "a process that leaves its command's group continues unseen, your other programs can read this one's environment, " +
			"and an edit keeps no access list of a file", page}}
	case "windows":
		return []finding{{weak, system, "processes that a command leaves behind continue unseen, your other programs can read this one's environment, " +
			"and an edit keeps neither a file's own rights nor its streams", page}}
	}
	return []finding{{weak, system, "nobody has tried the program there", page}}
}

// terminalFixes returns how to set the kind and the size of the terminal.
func terminalFixes(system string) (kind, size string) {
	if system == "windows" {
		return "set TERM=xterm-256color, in Windows Terminal or another console that knows its sequences", "mode con: cols=100 lines=30"
	}
	return "set TERM to your terminal's type", "stty cols 100 rows 30"
}
