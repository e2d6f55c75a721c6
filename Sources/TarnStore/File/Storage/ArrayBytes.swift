/// An array's bytes, with typed errors, which the standard function does not support.
package func withBytes<R>(
  of array: [UInt8], _ body: (UnsafeRawBufferPointer) throws(StorageError) -> R
) throws(StorageError) -> R {
  let result = unsafe array.withUnsafeBytes { bytes in
    Result<R, StorageError> { () throws(StorageError) in unsafe try body(bytes) }
  }
  return try result.get()
}
