// Package datex2 reads SituationPublications of DATEX II 2 and 3, bare, in a container or in SOAP (D17.21 to D17.24): records of accidents,
// works, closures, obstructions and conditions. Records of one situation at one point become one row.
package datex2
