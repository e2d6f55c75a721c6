import Foundation

/// A size for people: `812 B`, `1.4 MB`.
package func sizeText(_ bytes: Int) -> String {
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
