import Foundation
import SyncProgram

exit(SyncProgram.run())
