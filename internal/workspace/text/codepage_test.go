package text

import "testing"

// The output of programs in the console of Windows is read as they wrote it.
func TestOutputInACodePage(t *testing.T) {
	for _, c := range []struct {
		page      uint32
		out, want string
	}{
		{437, "f\x81r\r\n", "für\r\n"},
		{850, "stra\xe1e", "straße"},
		{866, "\x8f\xe0\xa8\xa2\xa5\xe2", "Привет"},
		{852, "\xbe", "ż"},
		{1251, "\xcf\xf0\xe8", "При"},
		{932, "\x93\xfa\x96{", "日本"},
		{936, "\xd6\xd0\xce\xc4\r\n", "中文\r\n"},
		{65001, "é", "é"},
	} {
		e := CodePage(c.page)
		if (e == "") != (c.page == 65001) || IsBinary([]byte(c.out), e) {
			t.Errorf("%d: %q", c.page, e)
		}
		if got := Output([]byte(c.out), e); got != c.want {
			t.Errorf("%d: %q, want %q", c.page, got, c.want)
		}
	}
	if e := CodePage(12345); e != "" {
		t.Error(e)
	}
}
