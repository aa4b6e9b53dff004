package shell

import "github.com/bb2d0cf4/agent/internal/workspace/text"

// OutputEncoding returns the encoding of output that is not UTF-8: that of the system's console, if it
// has one of its own as on Windows and the setting is the usual one, else the setting.
func OutputEncoding(setting text.Encoding) text.Encoding {
	return outputEncoding(setting, codePage())
}

// outputEncoding is OutputEncoding with a code page of the console, or zero.
func outputEncoding(setting text.Encoding, page uint32) text.Encoding {
	if console := text.CodePage(page); console != "" && setting == text.Latin1 {
		return console
	}
	return setting
}
