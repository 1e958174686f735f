// A sparse matrix times a vector, by cuSPARSE from the CSR format. `index` is the width of the indices,
// 32 or 64 bits; NESL's ints have 64.

#include "common.cuh"

#include <cusparse.h>

static void must_sparse(cusparseStatus_t status, int line) {
  if (status != CUSPARSE_STATUS_SUCCESS) {
    std::fprintf(stderr, "line %d: cuSPARSE: %s\n", line, cusparseGetErrorString(status));
    std::exit(1);
  }
}

#define MUST_SPARSE(call) must_sparse((call), __LINE__)

template <class Index>
__global__ void fill_rows(const Index *starts, Index *columns, double *entries, int64_t rows) {
  const int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row < rows) {
    for (int64_t at = starts[row]; at < starts[row + 1]; ++at) {
      const int64_t j = at - starts[row];
      columns[at] = Index(mix(64 * row + j) % rows);
      entries[at] = unit(row + j);
    }
  }
}

template <class Index>
int multiply(int64_t rows, int64_t width, int64_t longest, cusparseIndexType_t type) {
  std::vector<Index> host(rows + 1, 0);
  int64_t total = 0;
  for (int64_t row = 0; row < rows; ++row) {
    total += width + longest / (1 + mix(row) % rows);
    host[row + 1] = Index(total);
  }
  Array<Index> starts(rows + 1), columns(total);
  Array<double> entries(total), v(rows), out(rows);
  MUST(cudaMemcpy(starts.data, host.data(), host.size() * sizeof(Index), cudaMemcpyHostToDevice));
  fill_rows<<<unsigned((rows + 255) / 256), 256>>>(starts.data, columns.data, entries.data, rows);
  MUST(cudaGetLastError());
  fill(v, [] __device__(int64_t i) { return unit(i + 7); });

  cusparseHandle_t handle;
  cusparseSpMatDescr_t matrix;
  cusparseDnVecDescr_t x, y;
  MUST_SPARSE(cusparseCreate(&handle));
  MUST_SPARSE(cusparseCreateCsr(&matrix, rows, rows, total, starts.data, columns.data, entries.data,
                                type, type, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  MUST_SPARSE(cusparseCreateDnVec(&x, rows, v.data, CUDA_R_64F));
  MUST_SPARSE(cusparseCreateDnVec(&y, rows, out.data, CUDA_R_64F));
  const double one = 1.0, zero = 0.0;
  size_t bytes = 0;
  MUST_SPARSE(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x,
                                      &zero, y, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
  Array<char> scratch(bytes);
  auto run = [&] {
    MUST_SPARSE(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y,
                             CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, scratch.data));
  };
  return serve(run, [&] { return check_floats(out); });
}

int main(int argc, char **argv) {
  const int64_t rows = parameter(argc, argv, "rows"), width = parameter(argc, argv, "width");
  const int64_t longest = parameter(argc, argv, "longest");
  if (parameter(argc, argv, "index", 64) == 64) {
    return multiply<int64_t>(rows, width, longest, CUSPARSE_INDEX_64I);
  }
  return multiply<int32_t>(rows, width, longest, CUSPARSE_INDEX_32I);
}
