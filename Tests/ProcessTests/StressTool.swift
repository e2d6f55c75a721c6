import Foundation
import Testing
import ToolSupport

/// The `tarn-stress` program beside the tests, whose workers are the processes of these tests.
enum StressTool {
  static let path: String = {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return (tests as NSString).deletingLastPathComponent + "/tarn-stress"
  }()

  static func start(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> ChildProcess {
    try ChildProcess(path, arguments, environment: environment)
  }

  static func worker(
    _ kind: String, _ file: String, _ rest: String..., environment: [String: String] = [:]
  ) throws -> ChildProcess {
    try start(["worker", kind, file] + rest, environment: environment)
  }
}
