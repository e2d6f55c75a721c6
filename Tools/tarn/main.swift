import Foundation

exit(TarnProgram.run())
