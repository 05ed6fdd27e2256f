package mapdata

// Gravity orders kinds where one stands for several, as in a cluster: the highest is shown.
func (k Kind) Gravity() int { return gravity[k] }

// gravity is in the order of catalogue.
var gravity = [KindCount]int{7, 17, 18, 16, 6, 10, 11, 9, 12, 13, 15, 14, 3, 4, 5, 2, 1, 8}
