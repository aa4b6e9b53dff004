package text

import (
	"slices"
	"strconv"

	"golang.org/x/text/encoding/charmap"
)

// codePages are the code pages of consoles that htmlindex lacks.
var codePages = map[Encoding]*charmap.Charmap{
	"ibm437": charmap.CodePage437, "ibm850": charmap.CodePage850, "ibm852": charmap.CodePage852, "ibm855": charmap.CodePage855, "ibm858": charmap.CodePage858,
	"ibm860": charmap.CodePage860, "ibm862": charmap.CodePage862, "ibm863": charmap.CodePage863, "ibm865": charmap.CodePage865,
}

// CodePage returns the encoding of a code page of Windows; "" for an unknown one, and for that of UTF-8.
func CodePage(number uint32) Encoding {
	switch number {
	case 932:
		return "shift_jis"
	case 936:
		return "gbk"
	case 949:
		return "euc-kr"
	case 950:
		return "big5"
	}
	name := strconv.FormatUint(uint64(number), 10)
	all := []Encoding{Encoding("ibm" + name), Encoding("windows-" + name)}
	if at := slices.IndexFunc(all, func(e Encoding) bool { return Check(e) == nil }); at >= 0 {
		return all[at]
	}
	return ""
}
