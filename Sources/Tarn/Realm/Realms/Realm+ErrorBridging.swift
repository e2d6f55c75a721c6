public import Foundation
internal import TarnStore

/// Makes `catch let error as NSError` match and `error as? NSError` succeed, as where the runtime
/// bridges errors itself.
extension Realm.Error: _ObjectiveCBridgeable {
  public func _bridgeToObjectiveC() -> NSError {
    var info = errorUserInfo
    if let fileURL { info[NSURLErrorKey] = fileURL }
    return NSError(domain: Self.errorDomain, code: errorCode, userInfo: info)
  }

  public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout Realm.Error?) {
    guard _conditionallyBridgeFromObjectiveC(source, result: &result) else {
      trap("\(source) is not a Realm.Error.")
    }
  }

  @discardableResult
  public static func _conditionallyBridgeFromObjectiveC(
    _ source: NSError, result: inout Realm.Error?
  ) -> Bool {
    guard source.domain == errorDomain, let code = Code(rawValue: source.code) else { return false }
    result = Realm.Error(
      code, message: source.localizedDescription, fileURL: source.userInfo[NSURLErrorKey] as? URL)
    return true
  }

  public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> Realm.Error {
    var result: Realm.Error?
    if let source { _conditionallyBridgeFromObjectiveC(source, result: &result) }
    return result ?? Realm.Error(.fail)
  }
}
