import Foundation

@testable import TarnStore

/// This process's descriptors, as the kernel shows them.
enum Descriptors {
  static func target(_ number: Int32) -> String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
  }

  static func leading(to path: String) -> [Int32] {
    FilePaths.names(in: "/proc/self/fd").compactMap { Int32($0) }.filter { target($0) == path }
  }
}
