package cli

import _ "time/tzdata" // feeds name time zones, also on systems that have no database of them
