import Foundation
import ToolSupport

/// This process's id.
var ownProcessID: Int32 { getpid() }

/// The command of a running process as its system knows it, made printable: a process chooses its
/// name. Empty if it is gone.
func processName(_ id: Int32) -> String {
  let text = try? String(contentsOfFile: "/proc/\(id)/comm", encoding: .utf8)
  return printable((text ?? "").trimmingCharacters(in: .whitespacesAndNewlines))
}

/// Bytes as people read them: `812 B`, `1.4 MB`.
func sizeText(_ bytes: Int) -> String {
  if bytes < 1000 { return "\(bytes) B" }
  var size = Double(bytes)
  for unit in ["kB", "MB", "GB", "TB"] {
    size /= 1000
    if size < 1000 || unit == "TB" {
      return "\(size < 10 ? String(format: "%.1f", size) : String(format: "%.0f", size)) \(unit)"
    }
  }
  return "\(bytes) B"
}
