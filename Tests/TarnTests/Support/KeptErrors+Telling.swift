import TestSupport
import Testing

extension KeptErrors {
  /// What the child said is an issue of the test, if it has not ended as it should.
  func tell(_ result: ExitTest.Result?) {
    if result == nil { Issue.record("\(text)") }
  }
}
