public import Foundation
import Tarn
import TarnStore

/// Changes of a file that its server does not have.
public struct UnsentChange: Sendable {
  /// The version that the commit made; nil for changes that are not a commit any more: the server
  /// was away for long, or does not take the changes of a class, and they will be sent as one.
  public let version: UInt64?
  /// When the commit was made, or the server first did not take the changes; nil if not known.
  public let date: Date?
  /// The names of the classes.
  public let classNames: [String]
  /// How many objects it is about.
  public let objectCount: Int
  /// Why the server does not take it, though its values may be right, such as a trigger that calls
  /// a function that is not there; nil if it has not refused it. It is tried again now and then,
  /// and other classes are exchanged without it.
  public let error: SyncError?
}

extension SyncSession {
  /// What the server does not have of the file: changes that are not a commit any more, then
  /// commits, at most the first thousand.
  ///
  /// - Throws: `Realm.Error` if the file cannot be read.
  public func unsentChanges() throws -> [UnsentChange] {
    do throws(StorageError) {
      guard let report = try UnsentReport.of(store) else { return [] }
      func date(_ time: Int64) -> Date { Date(timeIntervalSince1970: Double(time) / 1_000_000) }
      return report.joined.map { one in
        UnsentChange(
          version: nil, date: one.stuck.map { date($0.since) }, classNames: [one.className],
          objectCount: one.count, error: one.stuck.map { SyncError($0.problem) })
      }
        + report.commits.map { commit in
          UnsentChange(
            version: commit.version, date: date(commit.time),
            classNames: Set(commit.objects.map(\.className)).sorted(),
            objectCount: commit.objects.count, error: nil)
        }
    } catch {
      throw Realm.Error(synchronizing: error)
    }
  }

  /// Lets the session take changes back instead of sending them, as if the server had refused them:
  /// their objects become what the server has, and the error handler gets
  /// ``SyncError/Code/writeRejected``. It does so when it is connected; any process may have it.
  ///
  /// - Parameter change: a commit, or a class with an error.
  /// - Throws: `Realm.Error` if the server has it meanwhile, or the file cannot be written.
  public func skip(_ change: UnsentChange) throws {
    do throws(StorageError) {
      if let version = change.version { return try SkipRequest.skip(version: version, in: store) }
      for name in change.classNames { try SkipRequest.skip(class: name, in: store) }
    } catch {
      throw Realm.Error(synchronizing: error)
    }
  }
}
