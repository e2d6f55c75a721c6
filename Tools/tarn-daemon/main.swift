import Foundation
import TarnDaemon

exit(DaemonProgram.run())
