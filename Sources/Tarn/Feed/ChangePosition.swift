public import Foundation
import TarnStore

/// A place in the history of a file: what a consumer has got to.
///
/// A consumer that can should keep it together with its effect, in one transaction of its own, and
/// give it back when it opens its cursor: `realm.cursor("indexer", expecting: position)`. Then
/// nothing is reported twice, and a file that was restored or replaced is noticed.
public struct ChangePosition: Hashable, Sendable, Codable, LosslessStringConvertible {
  /// The history of the file. A copy that is written to independently has another one.
  public let historyID: UUID
  /// The version.
  public let version: UInt64
  /// The random id of the commit that made the version: it tells versions of the same number apart,
  /// which two copies of a file can have.
  public let commitID: UInt64

  init(_ historyID: Bytes16, _ version: Version, _ commitID: UInt64) {
    self.historyID = UUID(historyID)
    self.version = version.rawValue
    self.commitID = commitID
  }

  /// The position that a text stands for; nil for any other text.
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
