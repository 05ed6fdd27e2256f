// Package pull polls the providers that publish their snapshots at a URL.
package pull
