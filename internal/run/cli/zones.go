package cli

import _ "time/tzdata" // feeds name time zones, also on systems that lack a database of them
