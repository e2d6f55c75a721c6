public import Foundation
import TarnStore

/// A position in the history of a file, up to which a consumer has applied the changes.
///
/// A consumer that can store it together with its effect, in one transaction, should do so, and
/// pass it when it opens its cursor: `realm.cursor("indexer", expecting: position)`. Then nothing
/// is reported twice, and a file that was restored or replaced is detected.
public struct ChangePosition: Hashable, Sendable, Codable, LosslessStringConvertible {
  /// The history of the file. A copy that is written independently has another one.
  public let historyID: UUID
  /// The version.
  public let version: UInt64
  /// The random id of the commit that made the version: it distinguishes equal version numbers of
  /// two copies of a file.
  public let commitID: UInt64

  init(_ historyID: Bytes16, _ version: Version, _ commitID: UInt64) {
    self.historyID = UUID(historyID)
    self.version = version.rawValue
    self.commitID = commitID
  }

  /// The position in a text; nil for any other text.
  public init?(_ description: String) {
    let parts = description.splitASCII("/", omittingEmpty: false)
    guard parts.count == 3, let history = UUID(uuidString: String(parts[0])),
      let version = UInt64(parts[1]), let commit = UInt64(parts[2], radix: 16)
    else { return nil }
    historyID = history
    self.version = version
    commitID = commit
  }

  /// The position as text: history, version and commit.
  public var description: String {
    "\(historyID.uuidString)/\(version)/\(String(commitID, radix: 16))"
  }
}
