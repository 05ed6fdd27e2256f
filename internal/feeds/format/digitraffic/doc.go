// Package digitraffic reads Finland's traffic messages in simple JSON, as Fintraffic publishes them (D17.30).
package digitraffic
