import Foundation

exit(ImportProgram.run())
