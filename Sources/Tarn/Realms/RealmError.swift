public import Foundation
import TarnStore

extension Realm {
  /// Why a call on a Realm failed. Match a kind with `catch Realm.Error.fileNotFound`.
  ///
  /// Storage failures leave the last committed state intact; what each of them leaves behind is
  /// told in the article on recovery.
  public struct Error: Swift.Error, Equatable, Sendable, CustomNSError, LocalizedError,
    CustomStringConvertible
  {
    /// The kinds of failure; the raw values are those that users of the Realm SDKs know.
    public enum Code: Int, Sendable, CaseIterable {
      case fail = 1
      case fileAccess = 2
      case filePermissionDenied = 3
      case fileExists = 4
      case fileNotFound = 5
      case fileFormatUpgradeRequired = 6
      case incompatibleLockFile = 8
      case addressSpaceExhausted = 9
      case schemaMismatch = 10
      case alreadyOpen = 12
      case invalidInput = 13
      case outOfDiskSpace = 14
      case incompatibleSession = 15
      case unsupportedFileFormatVersion = 16
      case multipleSyncAgents = 17
      case subscriptionFailed = 18
      case fileOperationFailed = 19
      case invalidDatabase = 20
      case incompatibleHistories = 21
      case noSubscriptionForWrite = 22
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence for people: what is wrong and, where there is one, the way out.
    public let message: String
    /// The file that it concerns, if it concerns one.
    public let fileURL: URL?

    public init(_ code: Code, message: String = "", fileURL: URL? = nil) {
      self.code = code
      self.message = message
      self.fileURL = fileURL
    }

    public static let fail = Error(.fail)
    public static let fileAccess = Error(.fileAccess)
    public static let filePermissionDenied = Error(.filePermissionDenied)
    public static let fileExists = Error(.fileExists)
    public static let fileNotFound = Error(.fileNotFound)
    public static let fileFormatUpgradeRequired = Error(.fileFormatUpgradeRequired)
    public static let incompatibleLockFile = Error(.incompatibleLockFile)
    public static let addressSpaceExhausted = Error(.addressSpaceExhausted)
    public static let schemaMismatch = Error(.schemaMismatch)
    public static let alreadyOpen = Error(.alreadyOpen)
    public static let invalidInput = Error(.invalidInput)
    public static let outOfDiskSpace = Error(.outOfDiskSpace)
    public static let incompatibleSession = Error(.incompatibleSession)
    public static let unsupportedFileFormatVersion = Error(.unsupportedFileFormatVersion)
    public static let multipleSyncAgents = Error(.multipleSyncAgents)
    public static let subscriptionFailed = Error(.subscriptionFailed)
    public static let fileOperationFailed = Error(.fileOperationFailed)
    public static let invalidDatabase = Error(.invalidDatabase)
    public static let incompatibleHistories = Error(.incompatibleHistories)
    public static let noSubscriptionForWrite = Error(.noSubscriptionForWrite)

    /// Errors are equal if they are of one kind.
    public static func == (a: Error, b: Error) -> Bool { a.code == b.code }

    /// Makes `catch Realm.Error.fileNotFound` match by kind.
    public static func ~= (pattern: Error, error: any Swift.Error) -> Bool {
      (error as? Error)?.code == pattern.code
    }

    public static var errorDomain: String { "io.realm" }
    public var errorCode: Int { code.rawValue }
    public var errorUserInfo: [String: Any] {
      [NSLocalizedDescriptionKey: description, "Error Name": "\(code)"]
    }
    public var errorDescription: String? { description }
    public var description: String {
      message.isEmpty ? "\(code)" : message
    }
  }
}

extension Realm.Error {
  /// The one place where the engine's errors become the public ones.
  init(_ error: StorageError) {
    let code: Code =
      switch error.code {
      case .notAStore, .corrupted: .invalidDatabase
      case .newerFormat: .unsupportedFileFormatVersion
      case .permissionDenied: .filePermissionDenied
      case .notFound: .fileNotFound
      case .diskFull: .outOfDiskSpace
      case .addressSpace: .addressSpaceExhausted
      case .identity, .replaced: .incompatibleLockFile
      case .schemaMismatch: .schemaMismatch
      case .invalidInput, .limitExceeded: .invalidInput
      case .alreadyOpen: .alreadyOpen
      case .inputOutput: .fileOperationFailed
      default: .fail
      }
    let url = error.path.isEmpty ? nil : URL(fileURLWithPath: error.path)
    self.init(code, message: error.description, fileURL: url)
  }
}

/// Runs engine work and gives its errors the public form.
@inline(__always)
func publicly<R>(_ body: () throws(StorageError) -> R) throws(Realm.Error) -> R {
  do {
    return try body()
  } catch {
    throw Realm.Error(error)
  }
}

/// Runs engine work where the signature gives no way to report: what goes wrong there stops the
/// program with what is known about it.
@inline(__always)
func trapping<R>(_ body: () throws(StorageError) -> R) -> R {
  do {
    return try body()
  } catch {
    fatalError("Tarn cannot go on reading: \(error)")
  }
}
