public import Foundation
import Tarn
import TarnStore

/// Changes of a file that the server does not have.
public struct UnsentChange: Sendable {
  /// The version that the commit made; nil for changes outside of commits: objects from before the
  /// first exchange, or changes that will be sent as one commit, because the server was unreachable
  /// for a long time or refuses the changes of a class.
  public let version: UInt64?
  /// When the commit was made, or when the server first refused the changes; nil if unknown.
  public let date: Date?
  /// The names of the classes.
  public let classNames: [String]
  /// The number of changed objects.
  public let objectCount: Int
  /// Why the server refuses the changes, though their values may be valid: for example because of a
  /// trigger that calls a missing function; nil if the server has not refused them. The session
  /// retries them occasionally, and exchanges other classes without them.
  public let error: SyncError?
}

extension SyncSession {
  /// The changes of the file that the server does not have: first changes outside of commits, then
  /// commits, at most a thousand. Includes asymmetric objects.
  ///
  /// - Throws: `Realm.Error` if the file cannot be read.
  public func unsentChanges() throws -> [UnsentChange] {
    do throws(StorageError) {
      guard let report = try UnsentReport.of(store, expecting: classes) else { return [] }
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

  /// Requests that the session rolls changes back instead of sending them, as if the server had
  /// refused them: their objects get the server's state, and the error handler receives
  /// ``SyncError/Code/writeRejected``. Objects from before the first exchange that the server
  /// refuses are deleted here. The session does this when it is connected; any process may have it.
  ///
  /// - Parameter change: a commit, or a class with an error.
  /// - Throws: `Realm.Error` if the server has received the change, or the file cannot be written.
  public func skip(_ change: UnsentChange) throws {
    do throws(StorageError) {
      if let version = change.version { return try SkipRequest.skip(version: version, in: store) }
      for name in change.classNames { try SkipRequest.skip(class: name, in: store) }
    } catch {
      throw Realm.Error(synchronizing: error)
    }
  }
}
