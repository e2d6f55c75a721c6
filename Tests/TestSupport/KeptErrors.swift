import Foundation

/// Where a child process leaves what it says of its end, for the test to tell if it fails: an exit
/// test keeps only how it ended.
public struct KeptErrors: Sendable {
  private let path: String

  public init(in folder: String, of name: String) { path = "\(folder)/\(name).errors" }

  /// In the child: what goes to the standard error goes into the file from here on.
  public func keep() {
    let file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0o600)
    precondition(file >= 0 && dup2(file, STDERR_FILENO) >= 0, "no file for errors")
    close(file)
  }

  /// What the child has said.
  public var text: String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "nothing" }
}
