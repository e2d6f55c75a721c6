public import Foundation
public import Tarn
import TarnStore
import TarnText

/// A problem of a session. The codes are those of the Realm SDKs.
public struct SyncError: Error, Sendable, CustomStringConvertible, LocalizedError {
  /// The kinds of problem.
  public enum Code: Int, Sendable {
    /// The exchange is interrupted for now, or until the server is prepared and has the classes;
    /// the session tries again.
    case clientSessionError = 4
    /// The user of the file has logged out or was removed.
    case clientUserError = 5
    /// The file is damaged, so that the session cannot read it.
    case clientInternalError = 6
    /// The server is another one, was restored, or no longer has deletions that the file does not
    /// know, and the ``ClientResetMode`` is manual.
    case clientResetError = 7
    /// The login was refused.
    case underlyingAuthError = 8
    /// The role lacks a right that the exchange needs.
    case permissionDeniedError = 9
    /// The server cannot answer a query of the subscriptions.
    case invalidFlexibleSyncSubscriptions = 10
    /// The server refused a commit, which was rolled back: its objects have the server's values.
    case writeRejected = 11
  }

  /// The kind of problem.
  public let code: Code
  /// A sentence for people: the server's reason, and the remedy where there is one.
  public let message: String
  /// For a refused write, the objects that were rolled back; nil for other errors.
  public let compensatingWriteInfo: [CompensatingWriteInfo]?
  /// For a refused write, the version of the commit; 0 for objects from before the file was
  /// synchronized, which are left unchanged unless they are skipped.
  public let version: UInt64
  /// PostgreSQL's code of the reason; empty without one.
  public let sqlState: String
  /// For a refused write, the properties whose rule was broken. Empty if the server does not report
  /// them, for example for a value that is too long for its column.
  public let propertyNames: [String]
  /// For a reset that waits, the permission for it.
  var reset: ActionToken?

  /// The message.
  public var description: String { message }
  /// The message, as `localizedDescription` returns it.
  public var errorDescription: String? { message }

  init(_ code: Code, _ error: ServerError) {
    self.code = code
    message = "\(error)"
    compensatingWriteInfo = code == .writeRejected ? [] : nil
    version = 0
    sqlState = error.state
    propertyNames = []
  }

  init(_ commit: RefusedCommit) {
    code = .writeRejected
    message = "\(commit.error)"
    version = commit.version
    sqlState = commit.error.state
    propertyNames = commit.properties
    compensatingWriteInfo = commit.objects.map { object in
      CompensatingWriteInfo(
        objectType: object.className,
        primaryKeyText: JSONText.text(ScalarCoder.json(object.primaryKey, as: .any)),
        reason: "\(commit.error)")
    }
  }

  /// The problem recorded by a session.
  init(_ notes: SessionNotes) {
    switch ServerRefusal(notes.state) {
    case _ where notes.state == ResetRule.waitState: code = .clientResetError
    case .login: code = .underlyingAuthError
    case .commit: code = .permissionDeniedError
    default: code = .clientSessionError
    }
    message = notes.problem ?? ""
    compensatingWriteInfo = nil
    version = 0
    sqlState = notes.state
    propertyNames = []
  }

  /// Whether the session continues by itself when the server can be reached again.
  var isPassing: Bool { code == .clientSessionError && ServerRefusal(sqlState) != .schema }

  /// The problem that stops a session for a while.
  init(_ problem: any Error) {
    guard let error = problem as? ServerError else {
      let code = (problem as? StorageError)?.code
      self.init(
        code == .corrupted || code == .notAStore ? .clientInternalError : .clientSessionError,
        ServerError(ServerSetup.exchange, "\(problem)"))
      return
    }
    switch ServerRefusal(error.state) {
    case _ where error.state == ResetRule.waitState: self.init(.clientResetError, error)
    case .login: self.init(.underlyingAuthError, error)
    case .commit where error.state == "42501": self.init(.permissionDeniedError, error)
    default: self.init(.clientSessionError, error)
    }
  }
}

/// An object whose change the server has refused.
public struct CompensatingWriteInfo: Sendable, Equatable {
  /// The name of its class.
  public let objectType: String
  private let primaryKeyText: String
  /// The server's reason.
  public let reason: String

  init(objectType: String, primaryKeyText: String, reason: String) {
    self.objectType = objectType
    self.primaryKeyText = primaryKeyText
    self.reason = reason
  }

  /// The primary key of the object.
  public var primaryKey: AnyRealmValue {
    guard let json = try? JSONScanner.value(in: primaryKeyText),
      let value = ScalarCoder.value(json, as: .any)
    else { return .none }
    return AnyRealmValue(primaryKey: value)
  }
}
