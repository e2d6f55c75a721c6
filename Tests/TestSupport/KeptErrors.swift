import Foundation

/// Where a child process leaves what it says on its standard error, for the test to tell if the
/// child fails: an exit test keeps only how it ended.
public struct KeptErrors: Sendable, Codable {
  private let path: String

  public init(in folder: String) { path = "\(folder)/\(UUID()).errors" }

  /// In the child: what goes to the standard error goes into the file from here on.
  public func keep() {
    let file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0o600)
    precondition(file >= 0 && dup2(file, STDERR_FILENO) >= 0, "no file for errors")
    close(file)
  }

  /// What the child has said.
  public var text: String {
    "the child said: \((try? String(contentsOfFile: path, encoding: .utf8)) ?? "nothing")"
  }
}
