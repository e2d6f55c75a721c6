import Foundation

/// Where the program that runs is.
package enum OwnProgram {
  /// Its file; empty if that is not known.
  package static var path: String {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  }

  /// The path of a program in the same folder.
  package static func sibling(_ name: String) -> String {
    URL(fileURLWithPath: path).deletingLastPathComponent().appendingPathComponent(name).path
  }
}
