package footprint
import "testing"
func TestX(t *testing.T){
 for _, l := range []string{"ls | xargs sh", "sh run.sh"} {
 f:=Of(Command{Line:l, Dir:t.TempDir()})
 t.Log(l, f.Unknown(), f.reach, f.why, f.order)
 a:=newReading(environ(nil), func(string)bool{return false}); a.line(l); t.Log(a.err, a.words, a.code)
 }
}
