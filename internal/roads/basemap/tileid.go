package basemap

// MaxZoom is the highest zoom that a tile may have.
const MaxZoom = 26

// tileID returns the PMTiles id of a tile: lower zooms first, within a zoom along a Hilbert curve. ok is false if there is no
// such tile.
func tileID(z uint8, x, y uint32) (id uint64, ok bool) {
	if z > MaxZoom || x >= 1<<z || y >= 1<<z {
		return 0, false
	}
	id = firstID(z)
	for side := uint32(1) << z >> 1; side > 0; side >>= 1 {
		var right, low uint32
		if x&side > 0 {
			right = 1
		}
		if y&side > 0 {
			low = 1
		}
		id += uint64(side) * uint64(side) * uint64((3*right)^low)
		if low == 0 { // rotate the quadrant
			if right == 1 {
				x, y = side-1-x&(side-1), side-1-y&(side-1)
			}
			x, y = y, x
		}
	}
	return id, true
}

// firstID returns the id of the first tile of a zoom, which is the number of tiles in all lower zooms.
func firstID(z uint8) uint64 { return (uint64(1)<<(2*z) - 1) / 3 }
