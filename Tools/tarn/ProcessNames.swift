import Foundation
import TarnStore
import ToolSupport

/// This process's id.
var ownProcessID: Int32 { getpid() }

/// `notes (4711)`, or `process 17 in another container`.
func processText(_ process: SignalProcess) -> String {
  process.name.map { "\(printable($0)) (\(process.processID))" } ?? process.description
}
