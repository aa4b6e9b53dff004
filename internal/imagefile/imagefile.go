// Package imagefile recognizes images in the formats that models take: PNG, JPEG, GIF and
// WebP. It guarantees that format and size come from the bytes, never from a name, and that
// an image that is cut off is refused.
package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats that models take
	_ "image/jpeg"
	_ "image/png"
)

// Image describes an image.
type Image struct {
	Mime          string
	Width, Height int // in pixels
}

// MaxSize is the size in bytes of the largest image that is sent to a model: 5 MB in base64. The
// strictest provider refuses a whole conversation with a larger one.
const MaxSize = 5 << 20 / 4 * 3

// MaxSide is the most pixels a side of an image for a model may have, for the same reason.
const MaxSide = 8000

// Errors of Parse and Check.
var (
	ErrTooLarge = fmt.Errorf("it is larger than %.2f MB", MaxSize/float64(1<<20))
	errFormat   = errors.New("it is not a PNG, JPEG, GIF or WebP")
	errCutOff   = errors.New("the image is cut off")
)

// Begins reports whether a file that begins with head may be an image.
func Begins(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")) || bytes.HasPrefix(head, []byte("\xff\xd8\xff")) ||
		bytes.HasPrefix(head, []byte("GIF8")) || isWebP(head)
}

func isWebP(data []byte) bool {
	return len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
}

// Check is Parse for an image that is to be sent to a model: it refuses one that is too large.
func Check(data []byte) (Image, error) {
	if len(data) > MaxSize {
		return Image{}, ErrTooLarge
	}
	img, err := Parse(data)
	if err == nil && max(img.Width, img.Height) > MaxSide {
		err = fmt.Errorf("it has %d×%d pixels, and models take at most %d a side", img.Width, img.Height, MaxSide)
	}
	return img, err
}

// Parse reads the format and the size of an image. If the image is
// cut off, the error comes with the part that it could read.
func Parse(data []byte) (Image, error) {
	if isWebP(data) {
		return parseWebP(data)
	}
	cfg, kind, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return Image{}, errFormat
	}
	img := Image{"image/" + kind, cfg.Width, cfg.Height}
	if !whole(kind, data) {
		return img, errCutOff
	}
	return img, nil
}

// whole reports whether the image has its end.
func whole(kind string, data []byte) bool {
	switch kind {
	case "png":
		return hasPNGEnd(data)
	case "jpeg":
		return bytes.Contains(data, []byte("\xff\xd9"))
	}
	return hasGIFEnd(data)
}

// hasGIFEnd walks from block to block to the trailer, whatever follows that.
func hasGIFEnd(data []byte) bool {
	const screen, extension, image, trailer = 13, 0x21, 0x2c, 0x3b // sizes and kinds of blocks
	at := screen + tableSize(data[10])
	for at < len(data) {
		switch data[at] {
		case trailer:
			return true
		case 0: // padding
		case extension:
			at += 2 // its label
		case image:
			if at+10 > len(data) {
				return false
			}
			at += 11 + tableSize(data[at+9]) // with the size of codes
		default:
			return false
		}
		for at < len(data) && data[at] > 0 { // sub-blocks, each after its length
			at += 1 + int(data[at])
		}
		at++
	}
	return false
}

// tableSize returns the size of the table of colors that flags describe, in bytes.
func tableSize(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// hasPNGEnd walks from chunk to chunk: length, name, data, checksum.
func hasPNGEnd(data []byte) bool {
	const signature, frame = 8, 12
	for at := uint64(signature); at+frame <= uint64(len(data)); {
		if string(data[at+4:at+8]) == "IEND" {
			return true
		}
		at += frame + uint64(binary.BigEndian.Uint32(data[at:]))
	}
	return false
}

// parseWebP reads the size from the first chunk: lossy, lossless or extended.
func parseWebP(data []byte) (Image, error) {
	if len(data) < 30 {
		return Image{}, errCutOff
	}
	img := Image{Mime: "image/webp"}
	b := data[20:]
	switch string(data[12:16]) {
	case "VP8 ":
		img.Width, img.Height = int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff)
	case "VP8L":
		n := binary.LittleEndian.Uint32(b[1:])
		img.Width, img.Height = int(n&0x3fff)+1, int(n>>14&0x3fff)+1
	case "VP8X":
		three := func(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }
		img.Width, img.Height = three(b[4:])+1, three(b[7:])+1
	default:
		return Image{}, errFormat
	}
	if uint64(binary.LittleEndian.Uint32(data[4:]))+8 > uint64(len(data)) {
		return img, errCutOff
	}
	return img, nil
}
